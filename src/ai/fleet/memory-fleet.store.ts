import { FLEET_LIMITS as LIMITS } from './fleet.limits.js';
import type { Bodies, Cell, CellRequest, Exchange, FleetNews, FleetStore, Topic } from './fleet.store.js';

interface KeptCell {
  readonly revision: number;
  readonly endsAt: number;
  readonly text: string;
}

const NOTHING: KeptCell = { revision: 0, endsAt: 0, text: '' };

/**
 * The fleet of one process: the embedded store, and the executable model of the Redis one. It keeps bodies as text, as Redis does. An
 * exchange is done by the time its call returns; news arrive after the present task.
 */
export class MemoryFleetStore implements FleetStore {
  private readonly cells = new Map<string, KeptCell>();
  private readonly receivers = new Set<(news: FleetNews) => void>();

  /** @param clock - µs since 1970, whole; the system's by default, which never steps back while the process lives */
  constructor(private readonly clock: () => number = systemClock) {}

  exchange<Body, Change>(
    topic: Topic<Body, Change>,
    from: string,
    requests: readonly CellRequest<Change>[],
  ): Promise<Exchange<Body>> {
    const us = this.clock();
    const steps = requests.map((request) => {
      const key = `${topic.name}/${request.id}`;
      const before = this.find(key, us);
      const after = changed(topic, before, request, us);
      if (after !== before) this.cells.set(key, after);
      return { seen: request.seen, before, after };
    });
    if (steps.some(({ before, after }) => topic.isNews(bodyOf(topic, before), bodyOf(topic, after)))) {
      this.tell({ topic: topic.name, from });
    }
    const cells = steps.map(({ seen, after }) => (after.revision === seen ? undefined : cellOf(topic, after)));
    return Promise.resolve({ now: msOf(us), cells });
  }

  subscribe(hear: (news: FleetNews) => void): Promise<void> {
    this.receivers.add(hear);
    return Promise.resolve();
  }

  unsubscribe(hear: (news: FleetNews) => void): Promise<void> {
    this.receivers.delete(hear);
    return Promise.resolve();
  }

  private find(key: string, us: number): KeptCell {
    const kept = this.cells.get(key) ?? NOTHING;
    const isOver = msOf(us) >= kept.endsAt || us < kept.revision - LIMITS.clockStepMs * 1000;
    return isOver ? NOTHING : kept;
  }

  private tell(news: FleetNews): void {
    for (const hear of this.receivers)
      queueMicrotask(() => {
        hear(news);
      });
  }
}

/** The cell after its changes; the same where they make no difference. */
function changed<Body, Change>(
  topic: Topic<Body, Change>,
  cell: KeptCell,
  { changes }: CellRequest<Change>,
  us: number,
): KeptCell {
  if (changes.length === 0) return cell;
  const now = msOf(us);
  let body = bodyOf(topic, cell);
  for (const { change, agoMs } of changes) body = topic.apply(body, change, now - agoMs);
  const end = body === undefined ? 0 : topic.endOf(body, now);
  const text = body === undefined || end <= now ? '' : topic.format(body);
  const isSame = text === cell.text && (text === '' || end <= cell.endsAt);
  if (isSame) return cell;
  return { revision: Math.max(cell.revision + 1, us), endsAt: text === '' ? now + LIMITS.emptyMs : end, text };
}

function cellOf<Body>(topic: Bodies<Body>, cell: KeptCell): Cell<Body> {
  return { revision: cell.revision, endsAt: cell.endsAt, body: bodyOf(topic, cell) };
}

function bodyOf<Body>(topic: Bodies<Body>, { text }: KeptCell): Body | undefined {
  return text === '' ? undefined : topic.parse(text);
}

function msOf(us: number): number {
  return Math.floor(us / 1000);
}

/** Never steps back while the process lives. */
function systemClock(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000);
}
