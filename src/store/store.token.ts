/** Injects the store: `@Inject(STORE) store: AnyStore`. */
export const STORE = Symbol('STORE');
