/**
 * `cancelled`: somebody asked for it. `late`: its time is over. `closing`: this process shuts down. In each of these cases what has
 * come so far is kept. `lost`: its lock is somebody else's, who does that. `deleted`: there is nowhere to keep it.
 */
export type StopReason = 'cancelled' | 'late' | 'closing' | 'lost' | 'deleted';

/** A turn is not to go on. */
export class TurnStop extends Error {
  override readonly name = 'TurnStop';

  constructor(readonly reason: StopReason) {
    super(`the turn is over before its answer: ${reason}`);
  }
}
