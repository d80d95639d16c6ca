import { HttpModule } from '@nestjs/axios';
import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { AI_OPTIONS, type AiOptions } from './ai.options.js';
import { Catalogue } from './catalogue/catalogue.js';
import { CompletionObserver } from './call/completion.observer.js';
import { CompletionService } from './call/completion.service.js';
import { ChatController } from './endpoint/chat.controller.js';
import { ModelsController } from './endpoint/models.controller.js';
import { ADAPTERS, type Adapters } from './upstream/adapters.js';
import { KeyCheckService } from './upstream/key-check.service.js';
import { OpenAiAdapter } from './upstream/openai.adapter.js';
import { UndiciTransport } from './upstream/undici.transport.js';

/** The client for all providers, and the endpoints that speak OpenAI's wire format. */
@Module({
  providers: [CompletionService, CompletionObserver, KeyCheckService],
  controllers: [ChatController, ModelsController],
  exports: [Catalogue, KeyCheckService],
})
export class AiModule implements OnApplicationShutdown {
  constructor(@Inject(UndiciTransport) private readonly transport: UndiciTransport) {}

  static forRoot(options: AiOptions): DynamicModule {
    const transport = new UndiciTransport();
    return {
      module: AiModule,
      imports: [
        HttpModule.register({
          adapter: transport.adapter,
          // Every status is an answer, and bodies pass as they are.
          validateStatus: null,
          transformRequest: [],
          transformResponse: [],
        }),
      ],
      providers: [
        { provide: AI_OPTIONS, useValue: options },
        { provide: UndiciTransport, useValue: transport },
        { provide: ADAPTERS, useValue: adaptersOver(transport) },
        { provide: Catalogue, useFactory: () => new Catalogue({ ...options, now: Date.now }) },
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.transport.close();
  }
}

function adaptersOver(transport: UndiciTransport): Adapters {
  return { openai: new OpenAiAdapter(transport) };
}
