import { connect, type Socket } from 'node:net';

/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection on which a test writes HTTP by hand, byte by byte if it likes. */
export class RawConnection {
  /** What the connection suffered: a reset, a broken pipe. */
  readonly errors: Error[] = [];
  #received = '';
  readonly #closed: Promise<void>;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => (this.#received += text));
    socket.on('error', (error) => this.errors.push(error));
    this.#closed = new Promise((resolve) =>
      socket.once('close', () => {
        resolve();
      }),
    );
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawConnection(socket);
  }

  get received(): string {
    return Buffer.from(this.#received, 'latin1').toString('utf8');
  }

  write(text: string): void {
    this.socket.write(text);
  }

  /** Writes and does not read until all is written, as blocking clients do. */
  async writeAll(text: string): Promise<void> {
    this.socket.pause();
    await new Promise<void>((resolve) =>
      this.socket.write(text, () => {
        resolve();
      }),
    );
    this.socket.resume();
  }

  /** Resolves when what came matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.socket.destroyed) throw new Error(`closed without ${String(pattern)}: ${this.received}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return this.received;
  }

  /** Resolves with everything that came, when the server has closed. */
  async closed(): Promise<string> {
    await this.#closed;
    return this.received;
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Writes, waits for the server to close, reads the answer. The request has to make the server close. */
export async function exchange(port: number, text: string): Promise<RawAnswer> {
  const connection = await RawConnection.open(port);
  connection.write(text);
  return parseAnswer(await connection.closed());
}

/** Splits the first answer of a connection that was closed after it. */
export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), body: text.slice(end + 4) };
}
