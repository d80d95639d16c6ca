export { AiModule } from './ai.module.js';
export type { AiOptions } from './ai.options.js';
export { Catalogue } from './catalogue/catalogue.js';
export { KeyCheckService } from './upstream/key-check.service.js';
