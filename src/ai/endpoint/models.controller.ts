import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, type Caller } from '../../auth/index.js';
import type { ModelSettings, PriceSettings } from '../../config/index.js';
import { ApiError, ApiErrors } from '../../http/index.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { MODEL_EXAMPLE, ModelCard, ModelList, type ModelPricing } from './models.dto.js';

@ApiTags('models')
@Controller('v1/models')
export class ModelsController {
  constructor(private readonly catalogue: Catalogue) {}

  @Get()
  @ApiOperation({ operationId: 'listModels', summary: "The catalogue, in OpenAI's list shape" })
  @ApiOkResponse({
    type: ModelList,
    description: 'The models that providers in use serve, whether or not this caller may use them.',
    example: { object: 'list', data: [MODEL_EXAMPLE] },
  })
  @ApiErrors({})
  list(@CurrentCaller() caller: Caller): ModelList {
    return { object: 'list', data: this.catalogue.served().map((model) => this.card(model, caller)) };
  }

  @Get(':id')
  @ApiOperation({ operationId: 'retrieveModel', summary: 'One model, by name or alias' })
  @ApiParam({ name: 'id', description: 'a name or alias; a slash in it is written %2F', example: 'gpt-4.1' })
  @ApiOkResponse({ type: ModelCard, description: 'The model, under its catalogue name.', example: MODEL_EXAMPLE })
  @ApiErrors({
    invalid_request: { message: 'the request path has a malformed percent-encoding' },
    model_not_found: { message: 'this model does not exist', param: 'model' },
  })
  get(@Param('id') id: string, @CurrentCaller() caller: Caller): ModelCard {
    const model = this.catalogue.find(id);
    if (model === undefined || !this.catalogue.served().includes(model)) {
      throw new ApiError('model_not_found', 'this model does not exist', { param: 'model' });
    }
    return this.card(model, caller);
  }

  private card(model: ModelSettings, caller: Caller): ModelCard {
    const prices = this.catalogue.liveDeployments(model)[0]?.prices;
    const shutdown = this.catalogue.shutdownOf(model);
    return {
      id: model.name,
      object: 'model',
      created: model.created,
      owned_by: model.ownedBy,
      aliases: model.aliases,
      context_window: model.contextWindow,
      max_output_tokens: model.maxOutputTokens,
      pricing: prices === undefined ? null : pricingOf(prices),
      allowed: this.catalogue.isAllowed(model, caller.tier),
      shutdown_date: shutdown === undefined ? null : new Date(shutdown.shutdownAt).toISOString().slice(0, 10),
      successor: shutdown?.successor ?? null,
    };
  }
}

function pricingOf({ input, cachedInput, cacheWrite, cacheWrite1h, output }: PriceSettings): ModelPricing {
  return {
    input,
    cached_input: cachedInput,
    ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
    ...(cacheWrite1h !== undefined && { cache_write_1h: cacheWrite1h }),
    output,
  };
}
