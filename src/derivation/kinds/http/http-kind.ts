import type { JsonValue } from '../../../contract/json/json.ts'
import type { Failure } from '../../../errors/failure.ts'
import { err, ok } from '../../../errors/result.ts'
import type { Result } from '../../../errors/result.ts'
import type {
  Computed,
  DerivationKind,
  InputValues,
  Plan,
  Planned,
} from '../../definition/derivation-kind.ts'
import { sendGuarded } from '../../transport/network/guarded-send.ts'
import type { SentRequest } from '../../recording/recorded-call.ts'
import { SecretSearch } from '../../transport/guard/secret-search.ts'
import type { Verdict } from '../../transport/guard/secret-search.ts'
import { renderBody } from './request/body-template.ts'
import { envNames, planHeaders, readEnv } from '../../transport/headers/header-template.ts'
import type { PlannedHeader } from '../../transport/headers/header-template.ts'
import { fillHeaders, shownHeaders } from '../../transport/headers/fill-headers.ts'
import { isSuccess } from '../../transport/network/hop.ts'
import { parseHttpSpec, renameInHttp } from './http-spec.ts'
import type { HttpSpec } from './http-spec.ts'
import { valueAt } from './response/response-path.ts'
import type { ResponsePath } from './response/response-path.ts'
import { parseJson } from '../../transport/response/parse-json.ts'
import { requestKey } from './request/request-key.ts'
import { statusMayPass } from '../../transport/call/retry.ts'
import { SecretGuard } from '../../transport/guard/secret-guard.ts'
import { SecretGuards } from '../../transport/guard/secret-guard-cache.ts'
import { requestLabel } from '../../transport/call/transport.ts'
import type { HttpMethod, Transport, TransportResponse } from '../../transport/call/transport.ts'
import { renderUrl } from './request/url-template.ts'

/** One call, complete except for the secrets. */
export interface HttpPlan extends Plan {
  /** URL and body after templating; the URL is not normalised, the body is null if the request has none. */
  readonly hashed: { readonly url: string; readonly body: JsonValue }
  readonly method: HttpMethod
  readonly headers: readonly PlannedHeader[]
}

/**
 * Returns the kind `http`: it calls an endpoint and writes parts of its JSON response into fields (H1 to H7). `{{ env.NAME }}` in headers
 * is read from `env` when the call is made, and is used in the request only (D23).
 */
export function httpKind(transport: Transport, env: NodeJS.ProcessEnv): DerivationKind<HttpSpec, HttpPlan> {
  const guards = new SecretGuards()
  return {
    name: 'http',
    needsListedInputs: false,
    parse: parseHttpSpec,
    renameField: renameInHttp,
    prepare(spec) {
      for (const name of envNames(spec.headers)) readEnv(name, env, spec.file)
    },
    plan: planCall,
    estimate: (plan, policies) => policies.forUrl(plan.hashed.url).costPerCall,
    firstRequest: (spec, plan) => sentRequest(plan, bodyOf(spec, plan)),
    async run(spec, plan, context) {
      const { url } = plan.hashed
      const { headers, secretHeaders, secrets } = fillHeaders(plan.headers, env, spec.file)
      const body = bodyOf(spec, plan)
      const request = { method: plan.method, url, headers, body, secretHeaders }
      const policy = context.policies.forUrl(url)
      const guard = guards.of(secrets)
      const call = { request, shown: sentRequest(plan, body), guard }
      const answer = await sendGuarded(transport, call, { ...context, policy, accepts: spec.onStatus })
      if (!answer.ok) return answer
      const response = answer.value
      const computed = extract({ spec, plan, response, search: new SecretSearch(guard) })
      const { status, durationMs, stored } = response
      if (stored === null) return ok(computed)
      return ok({
        ...computed,
        response: { request: requestKey(plan, body), status, durationMs, body: stored },
      })
    },
    responses: {
      requestKey: (spec, plan) => requestKey(plan, bodyOf(spec, plan)),
      evaluate(spec, plan, { status, durationMs, body }) {
        const { request } = plan
        if (spec.onStatus.has(status)) return ok(givenValues(spec, { status, durationMs }))
        // It was kept for a derivation that accepts its status.
        if (!isSuccess(status)) return err(statusFailure(request, status, body))
        const json = parseJson(body)
        if (json === undefined) return err({ reason: 'malformed_json', request })
        // It was searched for secrets before it was kept.
        const search = new SecretSearch(NO_SECRETS)
        return ok(extract({ spec, plan, response: { status, json, text: body, durationMs }, search }))
      },
      evaluateFailure(spec, _plan, failure) {
        const isAnswer = failure.reason === 'status' && !statusMayPass(failure.status)
        if (!isAnswer || !spec.onStatus.has(failure.status)) return err(failure)
        return ok(givenValues(spec, failure))
      },
    },
  }
}

const NO_SECRETS = new SecretGuard([])

/** Returns the body as it is sent. */
function bodyOf(spec: HttpSpec, plan: HttpPlan): string | null {
  return spec.body === null ? null : JSON.stringify(plan.hashed.body)
}

function sentRequest({ method, headers, hashed }: HttpPlan, body: string | null): SentRequest {
  return { method, url: hashed.url, headers: shownHeaders(headers), body }
}

function planCall(spec: HttpSpec, inputs: InputValues): Planned<HttpPlan> {
  const rendered = renderUrl(spec.url, inputs)
  if (rendered.outcome === 'blocked') return rendered
  const headers = planHeaders(spec.headers, inputs)
  if (headers.outcome === 'blocked') return headers

  const { method } = spec
  const { url } = rendered
  const request = requestLabel({ method, url })
  if (rendered.outcome === 'dot-segment') {
    const detail = `a value makes the path segment "${rendered.segment}", which would lead to another path`
    return { outcome: 'failed', failure: { reason: 'unusable_input', request, detail } }
  }
  const body = spec.body === null ? null : renderBody(spec.body, inputs)
  const plan = {
    request,
    hashed: { url, body },
    evidence: { method, url },
    method,
    headers: headers.headers,
  }
  return { outcome: 'run', plan }
}

interface Answered {
  readonly spec: HttpSpec
  readonly plan: HttpPlan
  readonly response: TransportResponse
  readonly search: SecretSearch
}

function statusFailure(request: string, status: number, responseBody: string): Failure {
  return { reason: 'status', request, status, ...(responseBody !== '' && { responseBody }) }
}

/** Returns the value that `on_status` sets for a status, for all targets. */
function givenValues(
  { paths, onStatus }: HttpSpec,
  { status, durationMs }: { readonly status: number; readonly durationMs?: number },
): Computed {
  const value = onStatus.get(status) ?? null
  return {
    values: Object.fromEntries(paths.map(({ field }) => [field, ok(value)])),
    evidence: { status, ...(durationMs !== undefined && { duration_ms: durationMs }) },
  }
}

function extract({ spec, plan, response, search }: Answered): Computed {
  if (spec.onStatus.has(response.status)) return givenValues(spec, response)
  const target = (path: ResponsePath): Result<JsonValue, Failure> => {
    const value = valueAt(response.json, path)
    if (value === undefined) return err({ reason: 'missing_path', request: plan.request, path: path.text })
    const verdict = search.verdict(value)
    return verdict === 'clean' ? ok(value) : err(withheld(verdict, path, plan.request))
  }
  return {
    values: Object.fromEntries(spec.paths.map(({ field, path }) => [field, target(path)])),
    evidence: { status: response.status, duration_ms: response.durationMs },
  }
}

/** Returns the failure of a value that is withheld. */
function withheld(verdict: Exclude<Verdict, 'clean'>, path: ResponsePath, request: string): Failure {
  const detail =
    verdict === 'repeats'
      ? `the value at "${path.text}" repeats a secret of the request`
      : `the value at "${path.text}" is beyond what is searched for secrets`
  return { reason: 'network', request, detail }
}
