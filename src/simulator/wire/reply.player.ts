import { dataFrame, type Frame } from '../reply/completion.frames.js';
import type { Exchange } from './exchange.js';
import { FOREVER_MS, pause, type LatencyClock } from './latency.clock.js';
import { typicalError } from '../provider.error.js';
import type { ScriptedBehaviour } from '../script/script.js';
import { WireWriter } from './wire.writer.js';

const COMMENTS = { stream: ': keep-alive\n\n', json: '\n' };
const GARBAGE_FRAME = 'data: {"id":"chatcmpl-garbage","choices":[{"index":0,"delta":{"content":"\\ud83d\n\n';

export interface Playback {
  readonly exchange: Exchange;
  readonly clock: LatencyClock;
  readonly behaviour: ScriptedBehaviour;
  /** A comment fits between any two frames of a stream; JSON takes empty lines, before it begins. */
  readonly kind: 'stream' | 'json';
  /** Told of each frame that is out. */
  readonly onWritten?: (frame: Frame) => void;
}

/** Plays the frames of a reply in their time, with what the script does to them. The head is out before. */
export class ReplyPlayer {
  private readonly writer: WireWriter;
  private onWait: (() => Promise<void>) | undefined;

  constructor(private readonly playback: Playback) {
    this.writer = new WireWriter(playback.exchange, playback.behaviour);
    this.onWait = playback.behaviour.comments === true ? () => this.writer.write(COMMENTS[playback.kind]) : undefined;
  }

  /** @throws the signal's reason when the client has left. */
  async play(frames: Iterable<Frame>): Promise<void> {
    let written = 0;
    for (const frame of frames) {
      if (await this.interrupts(written)) {
        return;
      }
      await this.playback.clock.until(frame.position, this.onWait);
      await this.onWait?.();
      await this.writer.write(frame.text);
      this.playback.onWritten?.(frame);
      written += 1;
      this.onWait = this.playback.kind === 'json' ? undefined : this.onWait;
    }
    if (!(await this.interrupts(written))) {
      this.playback.exchange.response.end();
    }
  }

  /** What the script does after so many frames. True: the reply is over. */
  private async interrupts(written: number): Promise<boolean> {
    const { behaviour, exchange } = this.playback;
    if (behaviour.stallAfterFrames === written) {
      await pause(behaviour.stallMs ?? FOREVER_MS, exchange.signal, this.onWait);
    }
    if (behaviour.garbageAfterFrames === written) {
      await this.writer.write(GARBAGE_FRAME);
    }
    if (behaviour.cutAfterFrames === written) {
      await exchange.cut();
      return true;
    }
    if (behaviour.errorAfterFrames === written) {
      await this.writer.write(
        dataFrame(behaviour.error === undefined ? typicalError(500).body : { error: behaviour.error }),
      );
    } else if (behaviour.endAfterFrames !== written) {
      return false;
    }
    exchange.endEarly();
    return true;
  }
}

/** A JSON body as four frames, so that the same scripts apply to it. */
export function bodyFrames(body: string, position: number): readonly Frame[] {
  // By code points: half of a surrogate pair cannot be written.
  const characters = Array.from(body);
  const quarter = Math.ceil(characters.length / 4);
  return [0, 1, 2, 3].map((index) => ({
    text: characters.slice(index * quarter, (index + 1) * quarter).join(''),
    position,
  }));
}

/** Scripted raw frames, paced as a reply is. */
export function rawFrames(texts: readonly string[]): readonly Frame[] {
  return texts.map((text, position) => ({ text, position }));
}
