# mnemolog, as a plain user who may write to /data alone.
#
#   docker build -t mnemolog .
#   docker run --rm mnemolog --help
FROM python:3.11-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/mnemolog \
 && /opt/mnemolog/bin/pip install --no-cache-dir --disable-pip-version-check .

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin mnemolog \
 && install --directory --owner=mnemolog --group=mnemolog /data
COPY --from=build /opt/mnemolog /opt/mnemolog
ENV PATH=/opt/mnemolog/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    MNEMOLOG_DATA=/data
USER mnemolog
WORKDIR /data
VOLUME /data
# The worker and the service end in good order on SIGTERM, which is what `docker stop` sends.
ENTRYPOINT ["mnemolog"]
CMD ["--help"]
