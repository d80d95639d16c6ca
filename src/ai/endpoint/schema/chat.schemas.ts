import { BATCH_SCHEMAS } from '../../batch/batch.schemas.js';
import { COMPLETION_SCHEMAS } from './completion.schema.js';
import { DRY_RUN_SCHEMAS } from './dry-run.schema.js';
import { MESSAGE_SCHEMAS } from './message.schema.js';
import { REQUEST_SCHEMAS } from './request.schema.js';
import { TOOL_SCHEMAS } from './tool.schema.js';

/** The OpenAPI schemas of `POST /v1/chat/completions` and of its batches, by the names under which they refer to each other. */
export const CHAT_SCHEMAS = {
  ...REQUEST_SCHEMAS,
  ...MESSAGE_SCHEMAS,
  ...TOOL_SCHEMAS,
  ...COMPLETION_SCHEMAS,
  ...DRY_RUN_SCHEMAS,
  ...BATCH_SCHEMAS,
};
