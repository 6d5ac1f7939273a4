const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i

/** Whether a text is an image that the policy of the page allows: one in a `data:` URL. */
export function isShownImage(text: string): boolean {
  return DATA_IMAGE.test(text)
}

/** A thumbnail of an image. */
export function ImageValue({ source }: { readonly source: string }) {
  return (
    <span className="value image">
      <img src={source} alt="image" decoding="async" />
    </span>
  )
}
