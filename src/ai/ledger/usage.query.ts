import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsISO8601, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { PageSize } from '../../http/index.js';
import { ENTRY_ID } from './ledger.store.js';

const DEFAULT_LISTED = 1_000;
const MOST_LISTED = 100_000;
const LONGEST_CALLER = 64;

const DATE = /^\d{4}-\d\d-\d\d$/;
/** A time without a zone would be another one on another machine. */
const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
const MOMENT_MESSAGE = '$property must be a date, or a time with its zone: 2026-11-29 or 2026-11-29T12:00:00Z';

/** The query of `GET /v1/usage`. */
export class UsageQuery {
  @ApiPropertyOptional({
    type: String,
    maxLength: LONGEST_CALLER,
    description: 'another caller than who asks; it wants a key with the scope `admin`',
    example: 'acme',
  })
  @IsOptional()
  @MaxLength(LONGEST_CALLER)
  @IsString()
  readonly caller?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date',
    description: 'the day (UTC), and the month that it lies in; default: today',
    example: '2026-11-29',
  })
  @IsOptional()
  @IsISO8601({ strict: true }, { message: '$property must be a date: 2026-11-29' })
  @Matches(DATE, { message: '$property must be a date: 2026-11-29' })
  readonly date?: string;
}

/** The query of `GET /v1/usage/ledger`. */
export class LedgerQuery {
  @ApiPropertyOptional({
    type: String,
    maxLength: LONGEST_CALLER,
    description: 'another caller than who asks; it wants a key with the scope `admin`',
    example: 'acme',
  })
  @IsOptional()
  @MaxLength(LONGEST_CALLER)
  @IsString()
  readonly caller?: string;

  @ApiPropertyOptional({
    type: String,
    description: 'calls that ended then or later: a date, or a time with its zone; default: as far back as it is kept',
    example: '2026-11-01',
  })
  @IsOptional()
  @IsISO8601({ strict: true }, { message: MOMENT_MESSAGE })
  @Matches(MOMENT, { message: MOMENT_MESSAGE })
  readonly from?: string;

  @ApiPropertyOptional({
    type: String,
    description: 'calls that ended before; default: up to now',
    example: '2026-12-01T00:00:00Z',
  })
  @IsOptional()
  @IsISO8601({ strict: true }, { message: MOMENT_MESSAGE })
  @Matches(MOMENT, { message: MOMENT_MESSAGE })
  readonly to?: string;

  @ApiPropertyOptional({
    type: String,
    description:
      'the `id` of the last entry that is known: what follows it is answered, and nothing is missed or told twice',
    example: '1764417600000-0',
  })
  @IsOptional()
  @Matches(ENTRY_ID, { message: '$property must be the id of an entry: 1764417600000-0' })
  readonly after?: string;

  @PageSize(MOST_LISTED, DEFAULT_LISTED)
  readonly limit: number = DEFAULT_LISTED;
}
