import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';

const RELEASE_MODES = ['drain', 'now'] as const;
export type ReleaseMode = (typeof RELEASE_MODES)[number];

const DEFAULT_LISTED = 100;
const MAX_LISTED = 1_000;

/** The query of `GET /v1/locks`. */
export class ListLocksQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LISTED,
    default: DEFAULT_LISTED,
    description: 'how many at most',
  })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(MAX_LISTED)
  readonly limit: number = DEFAULT_LISTED;
}

/** The query of `GET /v1/locks/{name}`: it takes no parameters, and says so to who gives one. */
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- what it lets through is what it has: nothing
export class RetrieveLockQuery {}

/** The query of `DELETE /v1/locks/{name}`. */
export class ReleaseLockQuery {
  @ApiPropertyOptional({
    enum: RELEASE_MODES,
    default: 'drain',
    description:
      '`drain`: the holder is told and refused its renewals; the next one gets the lock when it has let go or its lease has ended. `now`: the next one gets it at once, beside a holder that has not heard yet; the fences tell them apart.',
  })
  @IsOptional()
  @IsIn(RELEASE_MODES)
  readonly mode: ReleaseMode = 'drain';

  @ApiPropertyOptional({
    type: String,
    description: "only this one of a lock's holders; without it, all of them",
    example: 'coordinator-6d5f9b7c4-x8k2p-3f9a1c2b7d10-42',
  })
  @IsOptional()
  @IsString()
  readonly token?: string;
}
