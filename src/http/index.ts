export { ApiError, type ApiErrorOptions } from './api-error.js';
export { BodyText } from './body-text.decorator.js';
export { ClientGoneError } from './client-gone.error.js';
export { clientSignal, onRequestOver } from './client-signal.js';
export { ClosedBody } from './closed-body.decorator.js';
export { configureHttp } from './configure-http.js';
export { serveDocs, type DocsOptions, type Schema } from './docs.js';
export { ApiErrors, type DocumentedErrors } from './docs.errors.js';
export { type DocumentedHeader, headerReferences } from './docs.headers.js';
export {
  DEFAULT_FLUSH_MS,
  Drain,
  type DrainOptions,
  type DrainResult,
  type DrainState,
  type DrainSteps,
} from './drain.js';
export { errorBody, errorHeaders, errorStatus, type ErrorBody } from './error-body.js';
export { ErrorFilter, type ErrorFilterOptions, type ErrorReport } from './error.filter.js';
export { forwardedRequestHeaders, forwardedResponseHeaders } from './header-lists.js';
export { isLoopbackHost } from './host-rule.js';
export { GOODBYE_MS, sayGoodbye } from './goodbye.js';
export { createHttpAdapter } from './http-adapter.js';
export { DEFAULT_LIMITS, type ConnectionLimits } from './connection-limits.js';
export type { HttpOptions } from './http-options.js';
export { stringEnd } from './json-depth.js';
export { CALL_HEADERS, REPORT_HEADERS } from './own-headers.js';
export { Public, PUBLIC_ROUTE } from './public.decorator.js';
export { PageSize } from './page-size.decorator.js';
export { STATUS_TABLE, type ErrorCode, type StatusRow } from './status-table.js';
export { toApiError, type ErrorFacts } from './to-api-error.js';
export { createValidationPipe, validationError } from './validation.pipe.js';
