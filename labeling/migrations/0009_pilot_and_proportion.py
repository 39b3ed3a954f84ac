"""Units drawn for pilots alone, and the proportion a size was planned for."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0008_distinct_pair"),
    ]

    operations = [
        migrations.AddField(
            model_name="sample",
            name="pilot",
            field=models.PositiveIntegerField(
                default=0, help_text="Units drawn beside the size, for pilots alone."
            ),
        ),
        migrations.AddField(
            model_name="sample",
            name="proportion",
            field=models.FloatField(blank=True, help_text="Expected; null: nothing is known.", null=True),
        ),
        migrations.AlterField(
            model_name="sampleunit",
            name="drawn",
            field=models.TextField(
                choices=[
                    ("draw", "Drawn"),
                    ("top_up", "Top-up"),
                    ("replacement", "Replacement"),
                    ("pilot", "For the pilot"),
                ],
                default="draw",
            ),
        ),
    ]
