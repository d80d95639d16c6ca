import type { Store } from '../../../store/index.js';
import { channelPrefix, type ShelfKeys, shelfKeys } from './answer.keys.js';
import { readBeat, readEnter, readLook } from './answer.replies.js';
import { type AnswerScripts, loadAnswerScripts } from './answer.scripts.js';
import type {
  AnswerStore,
  BeatAnswer,
  BeatCommand,
  EnterAnswer,
  EnterCommand,
  FinishCommand,
  FlightOf,
  LookAnswer,
  LookCommand,
} from './answer.store.js';

/** Answers and flights shared by all pods on one Redis. Each command is one script, so it happens at once or not at all. */
export class RedisAnswerStore implements AnswerStore {
  readonly #channels: string;

  constructor(
    private readonly store: Store,
    private readonly scripts: AnswerScripts = loadAnswerScripts(),
  ) {
    this.#channels = channelPrefix(store.keyPrefix);
  }

  async enter({ shelf, flight, token, answers, purpose, process }: EnterCommand): Promise<EnterAnswer> {
    const keys = this.#keys(shelf);
    const names = [keys.answers, keys.ends, keys.flight(flight)];
    return readEnter(await this.store.run(this.scripts.enter, names, [purpose, token, process, ...answers]));
  }

  async look({ shelf, flight, token, process }: LookCommand): Promise<LookAnswer> {
    const keys = this.#keys(shelf);
    return readLook(await this.store.run(this.scripts.look, [keys.flight(flight), keys.told(token)], [token, process]));
  }

  async beat({ shelf, flights }: BeatCommand): Promise<readonly BeatAnswer[]> {
    const keys = this.#keys(shelf);
    const names = flights.map(({ flight }) => keys.flight(flight));
    const tokens = flights.map(({ token }) => token);
    return readBeat(flights.length, await this.store.run(this.scripts.beat, names, tokens));
  }

  async finish({ shelf, flight, token, purpose, text, keep }: FinishCommand): Promise<void> {
    const keys = this.#keys(shelf);
    const names = [keys.answers, keys.ends, keys.flight(flight), keys.told(token)];
    const { answer = '', forMs = 0, shelfBytes = 0 } = keep ?? {};
    const words = [purpose, token, this.#channels, text, answer, forMs, shelfBytes];
    await this.store.run(this.scripts.finish, names, words);
  }

  async leave({ shelf, flight, token, process }: FlightOf & { readonly process: string }): Promise<void> {
    await this.store.run(this.scripts.leave, [this.#keys(shelf).flight(flight)], [token, process]);
  }

  subscribe(process: string, over: (token: string) => void, resumed: () => void): Promise<void> {
    return this.store.subscribe(`${this.#channels}${process}`, over, resumed);
  }

  unsubscribe(process: string): Promise<void> {
    return this.store.unsubscribe(`${this.#channels}${process}`);
  }

  #keys(shelf: string): ShelfKeys {
    return shelfKeys(this.store.keyPrefix, shelf);
  }
}
