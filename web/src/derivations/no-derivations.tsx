import type { SheetContract } from '../api/contract.ts'
import { DerivationText } from './derivation-text.tsx'
import { exampleDerivation } from './example-derivation.ts'

/** What a derivation is, for a sheet that has none, with one to begin with. */
export function NoDerivations({ contract }: { readonly contract: SheetContract }) {
  return (
    <div className="no-derivations">
      <h2>This sheet has no derivations</h2>
      <p>
        A derivation is a file that says how fields are computed from other fields: by a call of an HTTP
        interface, with the values of the record in it. Every value it makes is written down with the call
        that made it.
      </p>
      <p>
        Put a file such as this into the folder <code>derivations</code> of the sheet, next to{' '}
        <code>contract.yaml</code>, and change it to your fields. The page shows it as soon as it is saved.
      </p>
      <DerivationText text={exampleDerivation(contract)} />
    </div>
  )
}
