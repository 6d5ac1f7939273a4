import type { SheetContract } from '../api/contract.ts'

/** Returns an example derivation file that uses fields of the sheet where possible. */
export function exampleDerivation({ fields }: SheetContract): string {
  const input = fields.find(({ primaryKey, derived }) => !primaryKey && derived === null) ?? fields[0]
  const target = fields.find(
    ({ primaryKey, name, required }) => !primaryKey && !required && name !== input?.name,
  )
  const [from, to] = [input?.name ?? 'id', target?.name ?? 'price']
  return `# derivations/${to.replaceAll('_', '-').toLowerCase()}.yaml
targets: [${to}]
inputs: [${from}]
kind: http
url: https://api.example.com/lookup/{{ ${from} }}
headers:
  # An environment variable of the server; it is never shown or logged.
  Authorization: Bearer {{ env.API_KEY }}
# Path to the value in the response.
response_path: result.value
`
}
