/** The client closed its connection before its answer was complete: nobody is left to answer. The reason of `clientSignal`. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
  readonly code = 'client_gone';

  constructor() {
    super('the client closed the connection before the answer was complete');
  }
}
