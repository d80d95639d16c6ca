import type { Socket } from 'node:net';
import { FrameReader, wordsOf } from './resp-frames.js';

/** Words of a command (`['evalsha', …]`, its name in lower case) or of a message (`['message', channel, text]`). */
export type Words = readonly string[];

/**
 * What becomes of a command. TCP loses no reply from the midst of a stream: where one is lost, the connection ends (`cut`), or says
 * nothing from there on (`silence`). `before`: the command never arrives; `after`: it runs, and its reply is lost.
 * With a delay all that follows on the connection waits too.
 */
export type CommandFault =
  | 'cut before'
  | 'cut after'
  | 'silence before'
  | 'silence after'
  | { readonly delayMs: number }
  | { readonly delayReplyMs: number };

/** What becomes of a published message. */
export type MessageFault = 'drop' | 'twice' | { readonly delayMs: number };

export type FaultRule =
  | {
      readonly about: 'command';
      readonly matches: (words: Words) => boolean;
      /** Undefined: only looks on. */
      readonly fault: CommandFault | undefined;
    }
  | { readonly about: 'message'; readonly matches: (words: Words) => boolean; readonly fault: MessageFault };

/** A command whose reply is still to come. */
interface Asked {
  readonly fault: CommandFault | undefined;
  /** Replies it has: SUBSCRIBE answers for each channel. */
  replies: number;
}

const SUBSCRIPTION = new Set(['subscribe', 'psubscribe', 'ssubscribe', 'unsubscribe', 'punsubscribe', 'sunsubscribe']);
const MESSAGES = new Set(['message', 'pmessage', 'smessage']);

/** One client's connection and its other half to the server. Frames pass whole and in order. */
export class FaultyConnection {
  readonly #asked: Asked[] = [];
  readonly #up: Lane;
  readonly #down: Lane;
  /** Resolves when the client's half is closed. */
  readonly closed: Promise<void>;
  #hasSubscribed = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly faultFor: (about: FaultRule['about'], words: Words) => FaultRule['fault'],
  ) {
    this.closed = new Promise((resolve) => {
      client.once('close', () => {
        resolve();
      });
    });
    this.#up = new Lane(server);
    this.#down = new Lane(client);
    const commands = new FrameReader();
    const replies = new FrameReader();
    client.setNoDelay().on('data', (chunk) => {
      for (const frame of commands.push(chunk)) this.#pass(frame);
    });
    server.setNoDelay().on('data', (chunk) => {
      for (const frame of replies.push(chunk)) this.#answer(frame);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      // An error is followed by the close.
      one.on('error', () => undefined).once('close', () => other.destroy());
    }
  }

  reset(): void {
    this.client.resetAndDestroy();
    this.server.destroy();
  }

  /** From now on nothing passes either way. */
  silence(): void {
    this.#up.silence();
    this.#down.silence();
  }

  #pass(frame: Buffer): void {
    const [name = '', ...rest] = wordsOf(frame);
    const words = [name.toLowerCase(), ...rest];
    const fault = asCommandFault(this.faultFor('command', words));
    if (fault === 'cut before') this.reset();
    else if (fault === 'silence before') this.silence();
    else {
      const isSubscription = SUBSCRIPTION.has(words[0] ?? '');
      this.#hasSubscribed ||= isSubscription;
      this.#asked.push({ fault, replies: isSubscription ? Math.max(1, rest.length) : 1 });
      this.#up.send(frame, typeof fault === 'object' && 'delayMs' in fault ? fault.delayMs : 0);
    }
  }

  #answer(frame: Buffer): void {
    const words = this.#hasSubscribed ? wordsOf(frame) : [];
    if (MESSAGES.has(words[0] ?? '')) {
      this.#tell(frame, words);
      return;
    }
    const fault = this.#answered();
    if (fault === 'cut after') this.reset();
    else if (fault === 'silence after') this.silence();
    else this.#down.send(frame, typeof fault === 'object' && 'delayReplyMs' in fault ? fault.delayReplyMs : 0);
  }

  /** What shall become of the reply that is next. */
  #answered(): CommandFault | undefined {
    const [asked] = this.#asked;
    if (asked === undefined) return undefined;
    asked.replies -= 1;
    if (asked.replies === 0) this.#asked.shift();
    return asked.fault;
  }

  #tell(frame: Buffer, words: Words): void {
    const fault = this.faultFor('message', words);
    if (fault === 'drop') return;
    this.#down.send(frame, typeof fault === 'object' && 'delayMs' in fault ? fault.delayMs : 0);
    if (fault === 'twice') this.#down.send(frame, 0);
  }
}

function asCommandFault(fault: FaultRule['fault']): CommandFault | undefined {
  return fault === 'drop' || fault === 'twice' ? undefined : fault;
}

/** One direction: what is delayed holds up what follows. */
class Lane {
  readonly #waiting: { readonly frame: Buffer; readonly at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isSilent = false;

  constructor(private readonly to: Socket) {
    to.once('close', () => {
      this.silence();
    });
  }

  silence(): void {
    this.#isSilent = true;
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
  }

  send(frame: Buffer, delayMs: number): void {
    if (this.#isSilent) return;
    const last = this.#waiting.at(-1);
    if (last === undefined && delayMs === 0) {
      this.to.write(frame);
      return;
    }
    this.#waiting.push({ frame, at: Math.max(last?.at ?? 0, performance.now() + delayMs) });
    this.#timer ??= this.#wake();
  }

  #wake(): NodeJS.Timeout | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    return setTimeout(
      () => {
        this.#flush();
      },
      Math.max(0, next.at - performance.now()),
    );
  }

  #flush(): void {
    const now = performance.now();
    // A timer may fire a trifle early.
    while (this.#waiting[0] !== undefined && this.#waiting[0].at <= now + 1) {
      const next = this.#waiting.shift();
      if (next !== undefined) this.to.write(next.frame);
    }
    this.#timer = this.#wake();
  }
}
