import type { Dispatcher } from 'undici';

/** It was too late to send the call: nothing went onto the wire. */
export class LateSendError extends Error {
  override readonly name = 'LateSendError';

  constructor() {
    super('the window that the call was let in for is over');
  }
}

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/**
 * Asks right before a request goes onto the wire, on a connection that stands, whether it still may. Opening one can take longer than
 * everything else, above all where many are opened at once.
 */
export class SendingHandler implements Handler {
  /** @param sending - what it throws ends the request unsent; its connection stays */
  constructor(
    private readonly handler: Handler,
    private readonly sending: () => void,
  ) {}

  onRequestStart(controller: Controller, context: unknown): void {
    this.sending();
    this.handler.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(...told: Parameters<NonNullable<Handler['onRequestUpgrade']>>): void {
    this.handler.onRequestUpgrade?.(...told);
  }

  onResponseStart(...told: Parameters<NonNullable<Handler['onResponseStart']>>): void {
    this.handler.onResponseStart?.(...told);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(...told: Parameters<NonNullable<Handler['onResponseEnd']>>): void {
    this.handler.onResponseEnd?.(...told);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.handler.onResponseError?.(controller, error);
  }
}
