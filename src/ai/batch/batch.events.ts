import { errorBody, toApiError } from '../../http/index.js';
import { type BatchProgress, type BatchResult, resultPieces } from './batch.result.js';

/** Proxies cut connections that are silent for longer; a minute is common. */
const HEARTBEAT_MS = 10_000;

/** Does a batch, and tells of each item that is over. */
export type BatchWork = (finished: (progress: BatchProgress) => void) => Promise<BatchResult>;

/**
 * A batch as server-sent events: a `progress` for each item that is over, then `done` with the whole result; comments while nothing
 * happens. A reader that is slow gets several at once. What nobody foresaw ends it with an `error`.
 */
export async function* batchEvents(work: BatchWork): AsyncGenerator<string> {
  const waiting: string[] = [];
  let wake: () => void = () => undefined;
  let end: { readonly result: BatchResult } | { readonly error: unknown } | undefined;
  const ended = (how: typeof end): void => {
    end = how;
    wake();
  };
  void work((progress) => {
    waiting.push(`event: progress\ndata: ${JSON.stringify(progress)}\n\n`);
    wake();
  }).then(
    (result) => {
      ended({ result });
    },
    (error: unknown) => {
      ended({ error });
    },
  );
  while (end === undefined || waiting.length > 0) {
    if (waiting.length > 0) {
      yield waiting.splice(0).join('');
      continue;
    }
    await silence((woken) => (wake = woken));
    if (waiting.length === 0 && end === undefined) yield ': keep-alive\n\n';
  }
  yield* 'result' in end ? doneEvent(end.result) : [errorEvent(end.error)];
}

/** Until something happens, or somebody must be told that nothing does. */
async function silence(whenWoken: (wake: () => void) => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    whenWoken(resolve);
    timer = setTimeout(resolve, HEARTBEAT_MS);
  });
  clearTimeout(timer);
}

function* doneEvent(result: BatchResult): Generator<string> {
  yield 'event: done\ndata: ';
  for (const piece of resultPieces(result)) yield inOneLine(piece);
  yield '\n\n';
}

function errorEvent(error: unknown): string {
  return `event: error\ndata: ${JSON.stringify(errorBody(toApiError(error)))}\n\n`;
}

/** JSON has line breaks only between tokens, where they mean nothing; in an event they would end its line. */
function inOneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]/g, ' ') : json;
}
