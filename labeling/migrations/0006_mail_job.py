from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labeling", "0005_issue_words")]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.TextField(
                choices=[
                    ("prepare_sample", "Prepare a sample"),
                    ("breakdowns", "Agreement by repository, stratum and level"),
                    ("check_agreement", "Check kappa a second way"),
                    ("duplicates", "Look for duplicates"),
                    ("purge", "Purge a deleted study"),
                    ("fetch_fix", "Fetch the diff of an issue"),
                    ("index_texts", "Make new issues searchable"),
                    ("mail", "Send notices by e-mail"),
                ]
            ),
        ),
    ]
