import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConversationRig, told } from '../support/conversation-rig.js';
import { eventually } from '../support/eventually.js';
import { hanging, saying } from '../support/scripted-generator.js';

interface Chat {
  open(options?: object): Promise<Response>;
  send(content: string, onText: (text: string) => void): Promise<Readonly<Record<string, unknown>>>;
  cancel(): Promise<Response>;
  readonly turn: string | undefined;
}
type ChatClass = new (options: { url: string; key: string; id: string }) => Chat;

/** Written for browsers: no types. */
const EXAMPLE = ['..', '..', 'examples', 'chat.mjs'].join('/');
const WORDS = Array.from({ length: 30 }, (_, at) => `word${String(at)} `);

/** A network whose connections break whenever the test likes. */
class Network {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, '127.0.0.1');
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
      }
      client.pipe(server).pipe(client);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${String(typeof address === 'object' ? address?.port : '')}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

let rig: ConversationRig;
let network: Network;
let chat: Chat;
beforeEach(async () => {
  rig = await ConversationRig.start();
  network = new Network(rig.pod.port);
  const example = (await import(EXAMPLE)) as { Chat: ChatClass };
  chat = new example.Chat({ url: await network.listen(), key: 'acme-key', id: 'trip' });
  await chat.open({ title: 'Trip' });
});
afterEach(async () => {
  await network.close();
  await rig.close();
});

describe('examples/chat.mjs', () => {
  it('shows the reply as it comes, and keeps the conversation', async () => {
    rig.generator.play(saying(WORDS, 3));
    const shown: string[] = [];
    const turn = await chat.send('Hello', (text) => shown.push(text));
    expect([turn['status'], shown.at(-1)]).toEqual(['complete', WORDS.join('')]);
    for (const [at, text] of shown.entries()) expect(text.startsWith(shown[at - 1] ?? '')).toBe(true);
    await chat.send('Again', () => undefined);
    expect(rig.generator.messages()).toHaveLength(3);
  });

  it('reads on where it was when the connection breaks, and sends nothing twice', async () => {
    rig.generator.play(saying(WORDS, 40));
    let shown = '';
    const sent = chat.send('Hello', (text) => (shown = text));
    for (const at of [3, 8]) {
      await eventually(() => shown.includes(`word${String(at)} `));
      network.cut();
    }
    expect(await sent).toMatchObject({ status: 'complete', assistant: { content: shown } });
    expect([shown, rig.generator.calls.length]).toEqual([WORDS.join(''), 1]);
  });

  it('stops the reply when it is asked to', async () => {
    rig.generator.play(hanging('half'));
    let shown = '';
    const sent = chat.send('Hello', (text) => (shown = text));
    await eventually(() => shown === 'half');
    await chat.cancel();
    expect(await sent).toMatchObject({ status: 'incomplete' });
    expect(told(await rig.log('/v1/conversations/trip'))).toEqual([
      'user complete: Hello',
      'assistant incomplete: half',
    ]);
  });

  it('says what can’t be helped', async () => {
    await expect(chat.send(' ', () => undefined)).rejects.toThrow('content must say something');
  });
});
