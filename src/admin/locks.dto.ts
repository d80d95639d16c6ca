import { ApiProperty } from '@nestjs/swagger';
import type { LockState } from '../lock/index.js';
import type { ReleaseMode } from './locks.query.js';

type HolderState = LockState['holders'][number]['state'];

const HOLDER_STATES = ['granted', 'held', 'revoked', 'released'] as const satisfies readonly HolderState[];
const SINCE = "by the store's clock";

/** Who has a lock. */
export class LockHolderCard {
  @ApiProperty({ description: 'names this hold, for `DELETE ?token=`' })
  readonly token: string = '';

  @ApiProperty({
    description:
      'the process that holds it: the name of its machine or pod, and what makes it another one after each start; also in its `listening` line of the log, and in its `/v1/status`',
  })
  readonly process: string = '';

  @ApiProperty({ description: 'what the holder says of itself; empty: nothing' })
  readonly description: string = '';

  @ApiProperty({
    enum: HOLDER_STATES,
    description:
      '`granted`: passed to a waiter that has not answered yet; `held`; `revoked`: told to let go; `released`: done, and kept for its minimum time',
  })
  readonly state: HolderState = 'held';

  @ApiProperty({ type: String, format: 'date-time', description: `when it was granted, ${SINCE}` })
  readonly since: string = '';

  @ApiProperty({ type: 'integer', minimum: 0, description: 'until it ends unless it is renewed, ms' })
  readonly lease_left_ms: number = 0;

  @ApiProperty({ type: 'integer', description: 'rises with every grant of this lock' })
  readonly fence: number = 0;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'how much of the capacity it takes' })
  readonly weight: number = 1;
}

/** Who waits for a lock. */
export class LockWaiterCard {
  @ApiProperty({ description: 'the process that waits, named as a holder is' })
  readonly process: string = '';

  @ApiProperty({ description: 'what the waiter says of itself; empty: nothing' })
  readonly description: string = '';

  @ApiProperty({ type: String, format: 'date-time', description: `when it queued up, ${SINCE}` })
  readonly since: string = '';
}

/** First come, first served. */
export class LockQueueCard {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'how many wait, also those left out of `waiters`' })
  readonly length: number = 0;

  @ApiProperty({ type: [LockWaiterCard], description: 'the first of them, the next one in front' })
  readonly waiters: readonly LockWaiterCard[] = [];
}

/** A lock that somebody holds or waits for. */
export class LockCard {
  @ApiProperty({ enum: ['lock'] })
  readonly object = 'lock';

  @ApiProperty({ description: 'as the code names it', example: 'order:42' })
  readonly key: string = '';

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'the number of permits; an exclusive holder takes all of it, a shared one 1',
  })
  readonly capacity: number = 1;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'weight of all holders, also of those left out below' })
  readonly used: number = 0;

  @ApiProperty({ type: [LockHolderCard], description: 'the first whose lease ends in front; at most 100' })
  readonly holders: readonly LockHolderCard[] = [];

  @ApiProperty({ type: LockQueueCard })
  readonly queue: LockQueueCard = new LockQueueCard();
}

/** The answer of `GET /v1/locks`. */
export class LockList {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ type: [LockCard], description: 'in no particular order' })
  readonly data: readonly LockCard[] = [];

  @ApiProperty({ description: 'there are more than `limit`' })
  readonly has_more: boolean = false;

  @ApiProperty({ type: String, nullable: true, description: 'the key of the last one listed', example: 'order:42' })
  readonly last_id: string | null = null;
}

/** The answer of `DELETE /v1/locks/{name}`. */
export class LockRevocation {
  @ApiProperty({ enum: ['lock.revocation'] })
  readonly object = 'lock.revocation';

  @ApiProperty({ example: 'order:42' })
  readonly key: string = '';

  @ApiProperty({ enum: ['drain', 'now'] satisfies readonly ReleaseMode[] })
  readonly mode: ReleaseMode = 'drain';

  @ApiProperty({ type: 'integer', minimum: 1, description: 'how many holders it was taken from' })
  readonly revoked: number = 1;
}
