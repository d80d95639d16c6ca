import type { OutgoingHttpHeaders } from 'node:http';
import type { Frame } from '../reply/completion.frames.js';
import type { Exchange } from './exchange.js';
import { FOREVER_MS, pause, type LatencyClock } from './latency.clock.js';
import { typicalError } from '../provider.error.js';
import { bodyFrames, ReplyPlayer } from './reply.player.js';
import type { ScriptedBehaviour } from '../script/script.js';

const JSON_TYPE = 'application/json';
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
const GARBAGE_BODY = '{"id":"chatcmpl-garbage","choices":[{"index":0,"mess<html><body>502 Bad Gateway</body></html>';
/** What makes a body more than one write. */
const DISTURBANCES = [
  'crlf',
  'bytewise',
  'drip',
  'splitAt',
  'earlyHead',
  'comments',
  'cutAfterFrames',
  'endAfterFrames',
  'garbageAfterFrames',
  'errorAfterFrames',
  'stallAfterFrames',
] as const satisfies readonly (keyof ScriptedBehaviour)[];

/** Writes answers, with what a script does to them. */
export class ReplyDelivery {
  constructor(
    private readonly exchange: Exchange,
    private readonly clock: LatencyClock,
    private readonly behaviour: ScriptedBehaviour,
  ) {}

  /**
   * Whatever of the script stands in the place of an answer. True: there is nothing more to answer.
   * @throws the signal's reason when the client has left.
   */
  async replace(headers: OutgoingHttpHeaders): Promise<boolean> {
    const { behaviour, exchange } = this;
    if (behaviour.delayMs !== undefined) {
      await pause(behaviour.delayMs, exchange.signal);
      this.clock.restart();
    }
    if (behaviour.reset === true) {
      exchange.reset();
      return true;
    }
    if (behaviour.neverAnswer === true) {
      await pause(FOREVER_MS, exchange.signal);
      return true;
    }
    const scripted = scriptedBody(behaviour);
    if (scripted === undefined) {
      return false;
    }
    await this.body(
      scripted.status,
      { ...headers, 'content-type': scripted.type },
      { text: scripted.body, position: 0 },
    );
    return true;
  }

  /** A body that is due at its position. */
  async body(status: number, headers: OutgoingHttpHeaders, { text, position }: Frame): Promise<void> {
    const all = { 'content-type': JSON_TYPE, ...headers };
    if (!DISTURBANCES.some((each) => this.behaviour[each] !== undefined)) {
      await this.dueAt(status, position);
      this.exchange.send(status, this.finished(all), text);
      return;
    }
    await this.head(status, all, position);
    await this.player('json').play(bodyFrames(text, position));
  }

  /** @param onWritten told of each frame that is out */
  async stream(
    headers: OutgoingHttpHeaders,
    frames: Iterable<Frame>,
    onWritten: (frame: Frame) => void = () => undefined,
  ): Promise<void> {
    await this.head(200, { ...STREAM_HEADERS, ...headers }, 0);
    await this.player('stream', onWritten).play(frames);
  }

  private async head(status: number, headers: OutgoingHttpHeaders, position: number): Promise<void> {
    if (this.behaviour.earlyHead !== true && this.behaviour.comments !== true) {
      await this.dueAt(status, position);
    }
    this.exchange.writeHead(status, this.finished(headers));
  }

  private finished(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
    return { ...headers, 'openai-processing-ms': String(Math.ceil(this.clock.elapsedMs)), ...this.behaviour.headers };
  }

  // Refusals come at once.
  private async dueAt(status: number, position: number): Promise<void> {
    if (status < 300) {
      await this.clock.until(position);
    }
  }

  private player(kind: 'stream' | 'json', onWritten?: (frame: Frame) => void): ReplyPlayer {
    const { exchange, clock, behaviour } = this;
    return new ReplyPlayer({ exchange, clock, behaviour, kind, ...(onWritten && { onWritten }) });
  }
}

interface ScriptedBody {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

function scriptedBody({ status, body, garbageBody }: ScriptedBehaviour): ScriptedBody | undefined {
  if (garbageBody === true) {
    return { status: status ?? 200, type: JSON_TYPE, body: GARBAGE_BODY };
  }
  if (typeof body === 'string') {
    return { status: status ?? 200, type: 'text/plain; charset=utf-8', body };
  }
  if (status === undefined && body === undefined) {
    return undefined;
  }
  const answered = status ?? 200;
  return { status: answered, type: JSON_TYPE, body: JSON.stringify(body ?? typicalError(answered).body) };
}
