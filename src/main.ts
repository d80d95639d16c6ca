import type { Running } from './boot.js';
import { onShutdownSignals } from './shutdown-signals.js';

// Signals first, all else after them: loading it takes a second or so, and the first process of a container is not even ended by a
// signal that nobody listens to. A signal in that time is obeyed when the boot has come to its end, which then listens to nobody.
const unwanted = new AbortController();
const booting: Promise<Running> = import('./boot.js').then(({ boot }) => boot(unwanted.signal));
onShutdownSignals(async () => {
  unwanted.abort();
  await (await booting).shutDown();
});
await booting;
