import { BriefMap } from '../../../store/index.js';
import type { CompletionCall } from '../../call/completion-call.js';
import { idempotencyMismatch } from '../reuse.terms.js';
import { Flight, type FlightPorts } from './flight.js';
import type { FlightPlan, Work } from './flight.plan.js';

/** The flights of this process, by what they are about. */
export class Flights {
  readonly #byName = new BriefMap<string, Flight>();
  readonly #open = new BriefMap<number, Flight>();
  #begun = 0;

  constructor(private readonly ports: FlightPorts) {}

  /** Joins the flight that is under way for the same, or begins it. @throws ApiError idempotency_mismatch */
  board(plan: FlightPlan, call: CompletionCall, work: Work): Flight {
    const name = `${plan.shelf}/${plan.name}`;
    const known = this.#byName.get(name);
    if (known === undefined || known.isClosed) {
      const flight = this.begin(plan, call, work);
      this.#byName.set(name, flight);
      void flight.over.then(() => {
        if (this.#byName.get(name) === flight) this.#byName.delete(name);
      });
      return flight;
    }
    if (known.plan.purpose !== plan.purpose) throw idempotencyMismatch();
    known.board(call);
    return known;
  }

  /** Begins one that nobody joins. */
  begin(plan: FlightPlan, call: CompletionCall, work: Work): Flight {
    const flight = new Flight(plan, call, work, this.ports);
    const number = (this.#begun += 1);
    this.#open.set(number, flight);
    void flight.over.then(() => this.#open.delete(number));
    return flight;
  }

  /** Ends all; nobody waits for them any more. Never rejects. */
  async close(reason: unknown): Promise<void> {
    const open = [...this.#open.values()];
    for (const flight of open) flight.end(reason);
    await Promise.all(open.map(({ over }) => over));
    await this.ports.line.close();
  }
}
