import { AiKind } from '../../src/derivation/kinds/ai/ai-kind.ts'
import { testKind } from '../../src/derivation/kinds/kind-suite.ts'
import { UndiciTransport } from '../../src/derivation/transport/network/undici-transport.ts'
import { contractWith } from '../support/contract-with.ts'
import { ModelServer } from '../support/model-server.ts'

testKind('ai', async () => {
  const server = await new ModelServer(({ turns: [prompt = ''] }) =>
    prompt.includes('Broken') ? { status: 500 } : { json: { industry: 'Retail', staff: 12 } },
  ).listen()
  const transport = new UndiciTransport()
  return {
    kind: new AiKind(transport, {}),
    contract: contractWith(
      '{name: company, logicalType: string}',
      '{name: industry, logicalType: string}',
      '{name: staff, logicalType: integer}',
    ),
    file: [
      'targets: [industry, staff]',
      'kind: ai',
      'model: small',
      'prompt: "Company: {{ company }}"',
      'max_output_tokens: 50',
      '',
    ].join('\n'),
    sources: {
      'models.yaml': `models: {small: {api: openai, url: ${server.url}, model: m, price: {input: 0.15, output: 0.6}}}`,
    },
    good: { inputs: { company: 'Acme' }, values: { industry: 'Retail', staff: 12 } },
    failing: { company: 'Broken' },
    blocked: null,
    close: async () => {
      await transport.close()
      await server.close()
    },
  }
})
