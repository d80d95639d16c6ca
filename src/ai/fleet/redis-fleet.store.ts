import type { Store } from '../../store/index.js';
import { cellKey, newsChannel } from './fleet.keys.js';
import { readExchange, readNews } from './fleet.replies.js';
import { type FleetScripts, loadFleetScripts } from './fleet.scripts.js';
import type { CellRequest, Exchange, FleetNews, FleetStore, Topic } from './fleet.store.js';

/** What the pods on one Redis share. Each exchange is one script, so it happens at once or not at all. */
export class RedisFleetStore implements FleetStore {
  private readonly channel: string;
  private readonly receivers = new Map<(news: FleetNews) => void, (message: string) => void>();

  constructor(
    private readonly store: Store,
    private readonly scripts: FleetScripts = loadFleetScripts(),
  ) {
    this.channel = newsChannel(store.keyPrefix);
  }

  async exchange<Body, Change>(
    topic: Topic<Body, Change>,
    from: string,
    requests: readonly CellRequest<Change>[],
  ): Promise<Exchange<Body>> {
    const keys = requests.map(({ id }) => cellKey(this.store.keyPrefix, topic.name, id));
    const words = requests.flatMap(({ seen, changes }) => [
      seen,
      changes.length,
      ...changes.map(({ change, agoMs }) => `${agoMs}|${topic.encode(change)}`),
    ]);
    const reply = await this.store.run(this.scripts[topic.name], keys, [this.channel, from, ...words]);
    return readExchange(topic, requests.length, reply);
  }

  async subscribe(hear: (news: FleetNews) => void, resumed: () => void): Promise<void> {
    const receive = (message: string): void => {
      const news = readNews(message);
      if (news !== undefined) hear(news);
    };
    await this.store.subscribe(this.channel, receive, resumed);
    this.receivers.set(hear, receive);
  }

  async unsubscribe(hear: (news: FleetNews) => void): Promise<void> {
    const receive = this.receivers.get(hear);
    this.receivers.delete(hear);
    if (receive !== undefined) await this.store.unsubscribe(this.channel, receive);
  }
}
