import { SetMetadata, type CustomDecorator } from '@nestjs/common';

/** The metadata key that a guard looks for; its value is `true` on routes that need no Authorization. */
export const PUBLIC_ROUTE = 'coordinator:public';

/** Marks a controller or a handler that answers without Authorization. */
export const Public = (): CustomDecorator => SetMetadata(PUBLIC_ROUTE, true);
