/* global crypto, TextDecoderStream */
/** A chat in a browser: the server keeps it, and a connection that breaks costs nothing. */
export class Chat {
  constructor({ url, key, id }) {
    this.base = `${url}/v1/conversations/${id}`;
    this.headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  }
  open = (options = {}) => this.call('PUT', '', {}, options);
  cancel = () => this.call('POST', `/turns/${this.turn}/cancel`, {}, {});
  begin = (content, once) => this.call('POST', '/turns', once, { content, stream: true });
  resume = (last) => this.call('GET', `/turns/${this.turn}/events`, { 'last-event-id': last });
  /** Sends a message; `onText` gets the reply as far as it has come. Resolves with the turn once it is over. */
  async send(content, onText) {
    const once = { 'idempotency-key': crypto.randomUUID() }; // However often it is tried.
    const reply = { text: '' };
    this.turn = undefined;
    for (let tries = 0; reply.end === undefined; tries += 1) {
      try {
        const response = await (this.turn ? this.resume(reply.last) : this.begin(content, once));
        for await (const event of events(response)) onText(this.take(reply, event));
      } catch (error) {
        if (error.isFinal || tries >= 20) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
    return reply.end;
  }
  take(reply, { id, event, data }) {
    if (event === 'turn') this.turn = data.id;
    else if (event === 'delta') reply.text += data.choices[0]?.delta.content ?? '';
    else if (id) reply.end = data.turn ?? data; // `done`, or `error` with the turn
    reply.last = id;
    return reply.text;
  }
  async call(method, path, more = {}, body = undefined) {
    const init = { method, headers: { ...this.headers, ...more }, body: body && JSON.stringify(body) };
    const response = await fetch(this.base + path, init);
    if (response.ok) return response;
    const isFinal = response.status < 500 && response.status !== 409;
    throw Object.assign(new Error((await response.json()).error.message), { isFinal });
  }
}
/** EventSource can't send Authorization; the reader of a response can. */
async function* events({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = '', piece; !(piece = await reader.read()).done;) {
    const frames = (text + piece.value).split('\n\n');
    text = frames.pop();
    for (const frame of frames.filter((each) => !each.startsWith(':'))) {
      const { data, ...rest } = Object.fromEntries(frame.split('\n').map((line) => line.split(/: (.*)/s)));
      yield { ...rest, data: JSON.parse(data) };
    }
  }
}
