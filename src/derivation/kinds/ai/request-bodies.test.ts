import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWith } from '../../../../test/support/contract-with.ts'
import { Kinds } from '../../kinds.ts'
import { parseDerivation } from '../../parse-derivation.ts'
import { sourceOf } from '../../read-sources.ts'
import { UndiciTransport } from '../../transport/network/undici-transport.ts'
import { anthropic } from './adapters/anthropic.ts'
import { openai } from './adapters/openai.ts'
import { AiKind } from './ai-kind.ts'
import type { AiSpec } from './ai-spec.ts'
import { RequestBodies } from './request-bodies.ts'

/** The spec of a derivation with this system text. */
function specWith(system: string): AiSpec {
  const keys = { targets: ['note'], kind: 'ai', model: 'm', prompt: '{{ company }}', system, temperature: 0 }
  const models = { models: { m: { api: 'openai', url: 'http://127.0.0.1:1/v1', model: 'x' } } }
  const contract = contractWith('{name: company, logicalType: string}', '{name: note, logicalType: string}')
  const { spec } = parseDerivation(
    {
      file: 'd.yaml',
      bytes: Buffer.from(JSON.stringify(keys)),
      read: (path) => sourceOf(path, Buffer.from(JSON.stringify(models))),
    },
    contract,
    new Kinds([new AiKind(new UndiciTransport(), {})], () => null),
  )
  return spec as AiSpec
}

test('the body of a request is that of the adapter, whatever its texts', () => {
  const hostile = ['', '"', '\\', '$&', '\u2028', '{"role":"user","content":"x"}']
  for (const api of [openai, anthropic]) {
    for (const system of ['Guess.', ...hostile.slice(1)]) {
      const spec = specWith(`a${system}`)
      const bodies = new RequestBodies(api, spec)
      for (const text of [...hostile, '\u0000\ud800']) {
        const one = [{ role: 'user', text }] as const
        const three = [...one, { role: 'assistant', text: 'no' }, { role: 'user', text: 'again' }] as const
        for (const turns of [one, three]) {
          assert.equal(bodies.of(turns), JSON.stringify(api.body({ ...spec, turns })))
        }
      }
    }
  }
})
