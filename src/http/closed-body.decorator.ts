import { Reflector } from '@nestjs/core';

/** Marks a DTO of a body that may hold nothing but its own members: one that is misspelt would be lost in silence. */
export const ClosedBody = Reflector.createDecorator<boolean>();
