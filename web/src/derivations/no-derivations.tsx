import type { ReactNode } from 'react'
import type { SheetContract } from '../api/contract.ts'
import { DerivationText } from './derivation-text.tsx'

interface NoDerivationsProps {
  readonly contract: SheetContract
  /** The buttons that begin one. */
  readonly children: ReactNode
}

/** The empty state of a sheet without derivations, with an example file. */
export function NoDerivations({ contract, children }: NoDerivationsProps) {
  return (
    <div className="no-derivations">
      <h2>This sheet has no derivations</h2>
      <p>
        A derivation is a file that defines how fields are computed from other fields, for example by a call
        to an HTTP API. Each computed value is stored with the call that returned it.
      </p>
      {children}
      <p>
        Add a file like this to the folder <code>derivations</code> of the sheet, next to{' '}
        <code>contract.yaml</code>, and adapt it to your fields. This page shows it as soon as you save it.
      </p>
      <DerivationText text={exampleDerivation(contract)} />
    </div>
  )
}

/** Returns an example derivation file that uses fields of the sheet where possible. */
function exampleDerivation({ fields }: SheetContract): string {
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
