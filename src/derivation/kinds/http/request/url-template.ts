import type { JsonValue } from '../../../../contract/json/json.ts'
import type { InputValues } from '../../../definition/derivation-kind.ts'
import { hostOfUrl } from '../../../definition/host-key.ts'
import { inputValue, parseTemplate, percentEncode, plainText } from '../../../definition/template.ts'
import type { FieldSlot, TemplateScope } from '../../../definition/template.ts'

/** The template of an http or https URL. */
export interface UrlTemplate {
  readonly parts: readonly (string | FieldSlot)[]
  /** `host:port`. */
  readonly host: string
  /** The index of the path in every resolved URL: scheme and authority have no placeholders. */
  readonly pathStart: number
  /** The indexes of the path's segments with a placeholder. */
  readonly filledSegments: readonly number[]
}

/** A URL after templating. */
export type RenderedUrl =
  | { readonly outcome: 'url'; readonly url: string }
  /** This field is null (D22). */
  | { readonly outcome: 'blocked'; readonly field: string }
  /** Values turned this segment of the path into `.` or `..` (D21). */
  | { readonly outcome: 'dot-segment'; readonly url: string; readonly segment: string }

/** Matches `.` and `..`, also if the template's own text has an encoded dot. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i

/** Matches the start of such a segment: few URLs have one, and this search is faster than splitting. */
const DOT_AT_START = /\/(?:\.|%2e)/i

/** Reads the template of a URL. Calls `scope.fail` for violations of D20 and D21. */
export function parseUrlTemplate(text: string, scope: TemplateScope): UrlTemplate {
  const parts = parseTemplate(text, scope)
  for (const part of parts) if (typeof part === 'string') refuseCharacters(part, scope)

  const skeleton = parts.map((part) => (typeof part === 'string' ? part : '\0')).join('')
  const [prefix = '', scheme = '', authority = ''] =
    /^([^:/?#]*):\/\/([^/?#]*)/.exec(skeleton) ??
    scope.fail('url is not absolute; start it with https:// or http://')
  if (prefix.includes('\0')) {
    scope.fail('placeholders are not allowed in the scheme, host or port of url; write these out')
  }
  if (!/^https?$/i.test(scheme))
    scope.fail(`url has the scheme "${scheme}"; only http and https can be called`)
  if (authority.includes('@')) {
    scope.fail('url has a user name or password; send credentials in a header, as {{ env.NAME }}')
  }
  return {
    parts,
    host: hostOf(scheme, authority, scope),
    pathStart: prefix.length,
    filledSegments: segmentsOf(skeleton.slice(prefix.length)).flatMap((segment, index) =>
      segment.includes('\0') ? [index] : [],
    ),
  }
}

function refuseCharacters(text: string, scope: TemplateScope): void {
  const character = /[^\x21-\x7e]|\\/u.exec(text)?.[0]
  if (character !== undefined) {
    scope.fail(`url has the character ${JSON.stringify(character)}, which no URL can have; percent-encode it`)
  }
}

function hostOf(scheme: string, authority: string, scope: TemplateScope): string {
  const parsed = URL.parse(`${scheme}://${authority}/`)
  if (!parsed || parsed.hostname === '') return scope.fail(`url has no valid host: "${authority}"`)
  return hostOfUrl(parsed)
}

/** Returns the segments of the path at the start of `text`. */
function segmentsOf(text: string): readonly string[] {
  return (/^[^?#]*/.exec(text)?.[0] ?? '').split('/')
}

/** Fills the inputs into the URL, each percent-encoded, so that it cannot change the URL's structure (H2, D21, D22). */
export function renderUrl(template: UrlTemplate, inputs: InputValues): RenderedUrl {
  let url = ''
  for (const part of template.parts) {
    if (typeof part === 'string') {
      url += part
      continue
    }
    const value: JsonValue = inputValue(inputs, part.field)
    if (value === null) return { outcome: 'blocked', field: part.field }
    url += percentEncode(plainText(value))
  }
  const segment = dotSegment(template, url)
  return segment === undefined ? { outcome: 'url', url } : { outcome: 'dot-segment', url, segment }
}

function dotSegment(template: UrlTemplate, url: string): string | undefined {
  if (template.filledSegments.length === 0 || !DOT_AT_START.test(url)) return undefined
  const segments = segmentsOf(url.slice(template.pathStart))
  return template.filledSegments.map((index) => segments[index] ?? '').find((text) => DOT_SEGMENT.test(text))
}
