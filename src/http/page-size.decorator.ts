import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** The query parameter `limit` of a list, a whole number from 1; the property's own value is the default. */
export function PageSize(most: number, usual: number, description = 'how many at most'): PropertyDecorator {
  // From the last to the first, as they would stand above the property.
  return applyDecorators(
    Max(most),
    Min(1),
    IsInt(),
    Type(() => Number),
    IsOptional(),
    ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: most, default: usual, description }),
  );
}
