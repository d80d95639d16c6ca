/** One server-sent event of a turn. */
export interface TurnEvent {
  readonly id: string | undefined;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads a turn's events one by one, as a frontend does. */
export class EventReader {
  #text = '';

  private constructor(private readonly reader: ReadableStreamDefaultReader<string>) {}

  /** @throws {Error} for an answer that is none of events */
  static of(response: Response): EventReader {
    if (response.body === null || response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
      throw new Error(`no events: ${String(response.status)}`);
    return new EventReader(response.body.pipeThrough(new TextDecoderStream()).getReader());
  }

  /** The next so many; fewer where it ends before. */
  async take(count: number): Promise<readonly TurnEvent[]> {
    const events: TurnEvent[] = [];
    while (events.length < count) {
      const end = this.#text.indexOf('\n\n');
      if (end === -1) {
        const { done, value } = await this.reader.read();
        if (done) return events;
        this.#text += value;
        continue;
      }
      const event = parse(this.#text.slice(0, end));
      this.#text = this.#text.slice(end + 2);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  all(): Promise<readonly TurnEvent[]> {
    return this.take(Infinity);
  }

  /** Closes the connection. */
  async leave(): Promise<void> {
    await this.reader.cancel();
  }
}

/** What the deltas come to. */
export function textOf(events: readonly TurnEvent[]): string {
  return events
    .filter(({ name }) => name === 'delta')
    .flatMap(({ data }) => data['choices'] as readonly { readonly delta: { readonly content?: string } }[])
    .map(({ delta }) => delta.content ?? '')
    .join('');
}

function parse(frame: string): TurnEvent | undefined {
  const members = new Map(
    frame.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), line.slice(at + 2)] as const;
    }),
  );
  const [name, data] = [members.get('event'), members.get('data')];
  if (name === undefined || data === undefined) return undefined;
  return { id: members.get('id'), name, data: JSON.parse(data) as TurnEvent['data'] };
}
