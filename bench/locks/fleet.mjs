/** Client processes of one contestant, new for every measurement: nobody profits from what another has warmed up or left behind. */
import { once } from 'node:events';
import { clearTimeout, setTimeout } from 'node:timers';
import { startOwn, stopAll } from '../gateway/child.mjs';
import { cpuMicros } from '../gateway/process-cost.mjs';

const CLIENT = new URL('./client.mjs', import.meta.url);
const START_TIMEOUT_MS = 30_000;

/** @returns {Promise<Fleet>} when all of them are connected */
export async function openFleet(entrant, { port, size, leaseMs }) {
  const options = JSON.stringify({ port, isTuned: entrant.isTuned, leaseMs });
  const clients = Array.from({ length: size }, () => new Client(startOwn(CLIENT, [entrant.name, options])));
  await Promise.all(clients.map((client) => client.answerTo(0, START_TIMEOUT_MS)));
  return new Fleet(clients);
}

class Fleet {
  constructor(clients) {
    this.clients = clients;
  }

  get first() {
    return this.clients[0];
  }

  cpuMicros() {
    return this.clients.reduce((total, { child }) => total + cpuMicros(child.pid), 0);
  }

  /** The same kind of order to each. */
  askAll(orderOf, timeoutMs) {
    return Promise.all(this.clients.map((client, index) => client.ask(orderOf(index), timeoutMs)));
  }

  /** At once: what a contestant still holds goes with the next clear(). */
  async close() {
    await Promise.all(this.clients.map((client) => client.kill()));
  }
}

class Client {
  #lastId = 0;
  #waiting = new Map();

  constructor(child) {
    this.child = child;
    child.on('message', ({ id, answer, failure }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (failure === undefined) waiting?.resolve(answer);
      else waiting?.reject(new Error(failure));
    });
    child.ended.addEventListener('abort', () => {
      for (const { reject } of this.#waiting.values()) reject(child.ended.reason);
    });
  }

  /** @throws TimedOut, or the client's failure */
  ask(order, timeoutMs) {
    this.#lastId += 1;
    const answer = this.answerTo(this.#lastId, timeoutMs);
    this.child.send({ id: this.#lastId, ...order });
    return answer;
  }

  answerTo(id, timeoutMs) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(new TimedOut(`${this.child.spawnargs.at(-2)} gave no answer to order ${id} within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const settled = (settle) => (value) => {
        clearTimeout(timer);
        settle(value);
      };
      this.#waiting.set(id, { resolve: settled(resolve), reject: settled(reject) });
    });
  }

  async kill() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }
}

/** A contestant took longer than a measurement may. */
export class TimedOut extends Error {}

export { stopAll };
