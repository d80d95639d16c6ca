import { Module, type DynamicModule } from '@nestjs/common';
import type { Settings } from './settings.js';

/** Injects the {@link Settings}: `constructor(@Inject(SETTINGS) private readonly settings: Settings)`. */
export const SETTINGS = Symbol('settings');

/** Gives the settings to every module of the application. */
@Module({})
export class SettingsModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: SettingsModule,
      global: true,
      providers: [{ provide: SETTINGS, useValue: settings }],
      exports: [SETTINGS],
    };
  }
}
