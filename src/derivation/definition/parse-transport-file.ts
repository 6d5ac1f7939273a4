import { isJsonObject } from '../../contract/json/json.ts'
import type { JsonObject, JsonValue } from '../../contract/json/json.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { parseYamlFile } from '../../contract/yaml/yaml-file.ts'
import type { YamlFile } from '../../contract/yaml/yaml-file.ts'
import { ContractError } from '../../errors/service-error.ts'
import { didYouMean } from './did-you-mean.ts'
import { hostKey } from './host-key.ts'
import { HOST_SETTINGS } from './host-settings.ts'
import { hostPolicies } from './host-policies.ts'
import type { HostPolicies, HostPolicy } from './host-policies.ts'

const FILE = 'transport.yaml'

/** A domain name has at most 253 characters; a port may follow. */
const MAX_HOST_LENGTH = 300

/**
 * Reads `transport.yaml`, the settings of each host. A key whose value is null counts as absent; without `hosts` the defaults apply. Throws
 * ContractError `transport.yaml:<line>: …`.
 */
export function parseTransportFile(bytes: Uint8Array): HostPolicies {
  const yaml = parseYaml(decode(bytes))
  if (yaml.value === null) return hostPolicies(new Map())
  const top = mapAt([], yaml.value, yaml)
  refuseOtherKeys([], { map: top, known: ['hosts'], yaml })
  const hosts = Object.hasOwn(top, 'hosts') ? top['hosts'] : null
  return hostPolicies(readHosts(mapAt(['hosts'], hosts ?? {}, yaml), yaml))
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ContractError(`${FILE}:1: the file is not UTF-8 text; save it as UTF-8`)
  }
}

/** In YAML `*` and `[` have another meaning at the start of a key, and the parser's error would not explain it. */
const BARE_KEY = /^[ \t]*((?:\*|\[[^\]\n]*\](?::\d+)?)):(?=\s)/m

function parseYaml(text: string): YamlFile {
  try {
    return parseYamlFile(text, FILE)
  } catch (error) {
    const bare = BARE_KEY.exec(text)
    if (bare === null || !(error instanceof ContractError)) throw error
    const line = text.slice(0, bare.index).split('\n').length
    throw new ContractError(`${FILE}:${line}: the key ${bare[1]} needs quotes; write '${bare[1]}':`)
  }
}

type Path = readonly string[]

function mapAt(path: Path, value: JsonValue, yaml: YamlFile): JsonObject {
  if (isJsonObject(value)) return value
  const name = path.length === 0 ? 'the file' : path.join('.')
  return yaml.fail(path, `${name} is ${showValue(value)}; write ${EXPECTED[path.length] ?? ''}`)
}

/** The expected contents of a map at each depth of the file. */
const EXPECTED: readonly string[] = [
  'a map with the key hosts',
  'a map of host, host:port or * to what holds for it',
  'a map such as {retries: 3, timeout: 30s}',
]

function refuseOtherKeys(
  path: Path,
  { map, known, yaml }: { map: JsonObject; known: readonly string[]; yaml: YamlFile },
): void {
  const other = Object.keys(map).find((key) => !known.includes(key))
  if (other === undefined) return
  const has = path.length === 0 ? 'the file has' : 'a host has'
  yaml.fail(
    [...path, other],
    `unknown key ${showValue(other)}; ${has} ${known.join(', ')}${didYouMean(other, known)}`,
  )
}

function readHosts(hosts: JsonObject, yaml: YamlFile): Map<string, Partial<HostPolicy>> {
  const entries = new Map<string, Partial<HostPolicy>>()
  for (const [written, value] of Object.entries(hosts)) {
    const path = ['hosts', written]
    if (written.length > MAX_HOST_LENGTH) {
      yaml.fail(
        path,
        `the host ${showValue(written)} is longer than ${MAX_HOST_LENGTH} characters; no host is`,
      )
    }
    const key = hostKey(written, (message) => yaml.fail(path, message))
    if (entries.has(key)) yaml.fail(path, `the host ${key} is there twice, here as "${written}"; keep one`)
    entries.set(key, readEntry(path, value, yaml))
  }
  return entries
}

function readEntry(path: Path, value: JsonValue, yaml: YamlFile): Partial<HostPolicy> {
  const entry = mapAt(path, value ?? {}, yaml)
  refuseOtherKeys(path, { map: entry, known: HOST_SETTINGS.map(({ key }) => key), yaml })
  const policy: Partial<HostPolicy> = {}
  for (const { key, allowed, read } of HOST_SETTINGS) {
    const given = Object.hasOwn(entry, key) ? entry[key] : undefined
    if (given === undefined || given === null) continue
    const part = read(given) ?? yaml.fail([...path, key], `${key} is ${showValue(given)}; write ${allowed}`)
    Object.assign(policy, part)
  }
  return policy
}
