"""Settings of gunicorn, the web server (docs/decisions/0001): ``gunicorn -c python:annotator.webserver``."""

from annotator.env import env_int

wsgi_app = "annotator.wsgi:application"
# Threads wait for slow readers of an export; a second process uses the second core.
workers = env_int("WEB_PROCESSES", 2, minimum=1)
threads = env_int("WEB_THREADS", 8, minimum=1)
worker_class = "gthread"
preload_app = True  # the processes share what they load, and a mistake in it shows at once
keepalive = 15
graceful_timeout = 8
max_requests = 50_000  # whatever leaks, leaks for a day at most
max_requests_jitter = 5_000
loglevel = "warning"
control_socket_disable = True
