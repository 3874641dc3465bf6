# The image of both programs: Daphne, and with another command the Celery worker. No secret is in it.

FROM python:3.11-slim-bookworm AS packages

WORKDIR /build
COPY requirements-uv.lock requirements.lock ./
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r requirements-uv.lock \
    && /opt/venv/bin/uv pip install --python /opt/venv/bin/python --no-cache --compile-bytecode \
        --require-hashes -r requirements.lock \
    && /opt/venv/bin/pip uninstall -y uv


FROM python:3.11-slim-bookworm

# bubblewrap holds the agents' Python. Where the engine forbids it user namespaces, the worker says
# so and takes the second sandbox, or leaves the tool out.
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --create-home turnstone \
    && install --directory --owner turnstone --group turnstone --mode 700 /var/lib/turnstone/artifacts

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STATIC_ROOT=/app/static-files \
    TURNSTONE_LOG=json \
    TURNSTONE_LOCAL_SERVERS=none

WORKDIR /app
COPY --from=packages /opt/venv /opt/venv
COPY manage.py ./
COPY project project
COPY agents agents
COPY chat chat
COPY templates templates
COPY static static
RUN python -m compileall -q project agents chat \
    && SECRET_KEY=only-to-collect-the-files-of-the-image python manage.py collectstatic --noinput

# What runs and transcripts name this image by: --build-arg BUILD=$(git rev-parse --short=12 HEAD).
ARG BUILD=
ENV TURNSTONE_BUILD=$BUILD

USER turnstone
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "-m", "project.web", "--host", "0.0.0.0", "--port", "8000"]
