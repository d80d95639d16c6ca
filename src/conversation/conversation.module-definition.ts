import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { ConversationModuleOptions } from './conversation.options.js';

export const { ConfigurableModuleClass: ConfigurableConversationModule, MODULE_OPTIONS_TOKEN: CONVERSATION_OPTIONS } =
  new ConfigurableModuleBuilder<ConversationModuleOptions>({ moduleName: 'Conversation' })
    .setClassMethodName('forRoot')
    .build();
