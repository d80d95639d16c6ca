/** The image's health check, where there is no curl: exits with 0 if the server in this container says that it is alive. */
const TIMEOUT_MS = 2_500;

const url = `http://127.0.0.1:${process.env.PORT || '8080'}/health`;
try {
  const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!ok) throw new Error(`it answers ${status}`);
} catch (error) {
  console.error(`${url}: ${error.cause?.message ?? error.message}`);
  process.exit(1);
}
