# The libraries, built once.
FROM python:3.13-slim-bookworm AS libraries
RUN python -m venv /venv
WORKDIR /build
COPY pyproject.toml .
RUN /venv/bin/pip install --no-cache-dir .

# What runs: no compiler, no pip cache, no root.
FROM python:3.13-slim-bookworm
RUN useradd --system --uid 10001 --create-home intercoder && install -d -o intercoder -m 700 /data
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 INTERCODER_DATA=/data
COPY --from=libraries /venv /venv
WORKDIR /app
COPY . .
RUN INTERCODER_DATA=/tmp/build python manage.py shell \
        --command "from annotator.static_files import collect_static_files as collect; collect()" \
    && rm -r /tmp/build
USER intercoder
VOLUME /data
EXPOSE 8000
CMD ["python", "manage.py", "start", "--host", "0.0.0.0"]
