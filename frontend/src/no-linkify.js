// In the place of the package “linkify-it” in the bundle: answers have no links, so addresses in them are not looked for.
export class LinkifyIt {}
