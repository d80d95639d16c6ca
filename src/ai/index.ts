export { AiModule } from './ai.module.js';
export type { AiOptions } from './ai.options.js';
export { Catalogue } from './catalogue/catalogue.js';
export { CHAT_SCHEMAS } from './endpoint/schema/chat.schemas.js';
export { KeyCheckService } from './upstream/key-check.service.js';
