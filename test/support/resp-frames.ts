const CARRIAGE_RETURN = 13;
const LINE_END = 2;
/** By the first byte of a frame: how many parts follow for each one counted. */
const PARTS = new Map([
  ['*', 1],
  ['~', 1],
  ['>', 1],
  ['%', 2],
]);
const TEXTS = new Set(['$', '!', '=']);

/** Cuts a stream of the Redis protocol into whole frames: a command, a reply, a message. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): readonly Buffer[] {
    let rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    for (let end = endOfFrame(rest, 0); end !== undefined; end = endOfFrame(rest, 0)) {
      frames.push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    this.#rest = rest;
    return frames;
  }
}

/** The texts of a flat list: the words of a command, or of a message. Anything else has none. */
export function wordsOf(frame: Buffer): readonly string[] {
  const words: string[] = [];
  let at = endOfLine(frame, 0);
  while (frame[0] === '*'.charCodeAt(0) && at !== undefined && at < frame.length) {
    const end = endOfFrame(frame, at);
    const start = endOfLine(frame, at);
    if (end === undefined || start === undefined) break;
    words.push(frame.toString('utf8', end > start ? start : at + 1, end - LINE_END));
    at = end;
  }
  return words;
}

/** Undefined: it goes on with the next chunk. */
function endOfFrame(bytes: Buffer, start: number): number | undefined {
  const head = endOfLine(bytes, start);
  if (head === undefined) return undefined;
  const kind = String.fromCharCode(bytes[start] ?? 0);
  const count = Number(bytes.toString('latin1', start + 1, head - LINE_END));
  if (TEXTS.has(kind)) {
    const end = count < 0 ? head : head + count + LINE_END;
    return end <= bytes.length ? end : undefined;
  }
  let at: number | undefined = head;
  const parts = (PARTS.get(kind) ?? 0) * count;
  for (let part = 0; part < parts && at !== undefined; part += 1) at = endOfFrame(bytes, at);
  return at;
}

function endOfLine(bytes: Buffer, start: number): number | undefined {
  const end = bytes.indexOf(CARRIAGE_RETURN, start);
  return end < 0 || end + LINE_END > bytes.length ? undefined : end + LINE_END;
}
