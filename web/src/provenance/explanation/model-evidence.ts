import { formatCount, formatDuration, formatMoney } from '../../ui/format.ts'

/** A fact about the computation of a value by a kind other than `http`. */
export interface EvidenceFact {
  readonly name: string
  readonly text: string
}

type Members = ReadonlyMap<string, unknown>

const MODEL = ['model', 'gen_ai.request.model', 'gen_ai.response.model', 'gen_ai.provider.name'] as const

const TOKENS = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.output_tokens',
] as const

/** The members below as facts, in the order of interest; the names are those of OpenTelemetry. */
const FACTS: readonly {
  readonly name: string
  readonly members: readonly string[]
  readonly text: (members: Members) => string
}[] = [
  { name: 'Model', members: MODEL, text: modelText },
  { name: 'Tokens', members: TOKENS, text: tokensText },
  { name: 'Cost', members: ['cost'], text: (members) => costText(members.get('cost')) },
  { name: 'Prompt', members: ['prompt'], text: (members) => textOf(members.get('prompt')) },
  {
    name: 'Finish reason',
    members: ['gen_ai.response.finish_reasons'],
    text: (members) => [members.get('gen_ai.response.finish_reasons')].flat().join(', '),
  },
  {
    name: 'Time',
    members: ['duration_ms', 'attempts'],
    text: (members) => timeText(members.get('duration_ms'), members.get('attempts')),
  },
  {
    name: 'Response id',
    members: ['gen_ai.response.id'],
    text: (members) => textOf(members.get('gen_ai.response.id')),
  },
]

/** Returns the evidence of an answer of a model as facts, and the other members; null for other evidence. */
export function modelEvidence(
  evidence: readonly (readonly [name: string, value: unknown])[],
): { readonly facts: readonly EvidenceFact[]; readonly others: typeof evidence } | null {
  const members: Members = new Map(evidence)
  if (!members.has('gen_ai.request.model')) return null
  const known = new Set(FACTS.flatMap((fact) => fact.members))
  return {
    facts: FACTS.filter((fact) => fact.members.some((name) => members.has(name))).map(({ name, text }) => ({
      name,
      text: text(members),
    })),
    others: evidence.filter(([name]) => !known.has(name)),
  }
}

function modelText(members: Members): string {
  const [name, asked, answered, api] = MODEL.map((member) => textOf(members.get(member)))
  const shown = answered === '' || answered === asked ? asked : `${asked}, answered by ${answered}`
  return `${name === '' ? '' : `${name}: `}${shown}${api === '' ? '' : ` (${api})`}`
}

function tokensText(members: Members): string {
  const [input, cached, written, output] = TOKENS.map((member) => Number(members.get(member) ?? 0))
  const parts = [
    ...(cached === 0 ? [] : [`${formatCount(cached ?? 0)} from the cache`]),
    ...(written === 0 ? [] : [`${formatCount(written ?? 0)} to the cache`]),
  ]
  const ofInput = parts.length === 0 ? '' : ` (${parts.join(', ')})`
  return `${formatCount(input ?? 0)} input${ofInput}, ${formatCount(output ?? 0)} output`
}

function costText(cost: unknown): string {
  return typeof cost === 'number' ? formatMoney(cost) : 'Unknown'
}

function timeText(duration: unknown, attempts: unknown): string {
  const time = formatDuration(Number(duration ?? 0))
  return Number(attempts ?? 1) > 1 ? `${time} in ${String(attempts)} requests` : time
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
