import { bodyCheck, type TypeOf } from '@sluice/http-api';
import { validationFailed } from '@sluice/problems';
import { castDeclared, type JsonObject, mergePatch } from '@sluice/vault';
import type { Context } from '../context.ts';
import { refuseHidden } from '../proxies/hidden-values.ts';
import { checkApplication, checkCode, checkConfigurationSize, withApplication } from '../proxies/proxy.definition.ts';
import { findFormula } from './formulas/reactor-formula.queries.ts';
import { unknownFormula } from './reactor.queries.ts';
import { reactorBody } from './reactor.schema.ts';

export type ReactorDefinition = TypeOf<typeof reactorBody>;

const checkShape = bodyCheck(reactorBody);

/** Also fills in the defaults. */
function isReactorDefinition(value: unknown): asserts value is ReactorDefinition {
  checkShape(value);
}

type Body = Record<string, unknown>;

/**
 * Bodies may name formula and Application as responses do. `formula` and `application` take precedence, even as null.
 */
function withReferences({ formula_id: formulaId, ...body }: Body): Body {
  const named = withApplication(body);
  const isFormulaMeant = typeof formulaId === 'string' && body.formula === undefined && body.code === undefined;
  return isFormulaMeant ? { ...named, formula: { id: formulaId } } : named;
}

export function mergeInto(current: ReactorDefinition, patch: Body): ReactorDefinition {
  const merged = mergePatch(current as JsonObject, withReferences(patch) as JsonObject);
  isReactorDefinition(merged);
  return merged;
}

/** A body that names neither `code` nor formula keeps the current one, because published clients send neither. */
export function replaceBy(body: Body, current: ReactorDefinition): ReactorDefinition {
  const { code, formula, ...replaced } = mergePatch({}, withReferences(body) as JsonObject) as Body;
  const names = code !== undefined || formula !== undefined;
  const definition = { ...replaced, ...(names ? { code, formula } : { code: current.code, formula: current.formula }) };
  const present = Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined));
  isReactorDefinition(present);
  return present;
}

/**
 * Checks rules that a schema cannot express.
 * @returns the definition, with its configuration cast as the formula declares. @throws {ServiceError}
 * `validation_failed` by member.
 */
export async function checkDefinition(
  definition: ReactorDefinition,
  tenantId: string,
  context: Context,
): Promise<ReactorDefinition> {
  const { code, formula, configuration, application } = definition;
  checkConfigurationSize(configuration);
  refuseHidden(definition);
  if ((code === undefined) === (formula === undefined))
    throw validationFailed({
      code: ['exactly one of `code` and `formula` must be set; in a patch, set the other to null'],
    });
  if (application) await checkApplication(application.id, tenantId, context);
  if (!formula) return definition;
  const found = await findFormula(context.db, tenantId, formula.id);
  if (!found) throw unknownFormula();
  const { values, faults } = castDeclared(found.configuration, (configuration ?? {}) as JsonObject);
  const byPath = Object.entries(faults).map(([name, messages]) => [`configuration.${name}`, messages]);
  if (byPath.length > 0) throw validationFailed(Object.fromEntries(byPath));
  return configuration ? { ...definition, configuration: values } : definition;
}

/** A 422, so it comes after 400 and 404. @throws {ServiceError} `code_does_not_compile` with line and column. */
export async function checkOwnCode({ code }: ReactorDefinition, tenantId: string, context: Context): Promise<void> {
  if (code !== undefined) await checkCode('code', code, { tenantId, context, refusal: 'code_does_not_compile' });
}
