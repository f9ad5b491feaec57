// In the place of the packages “linkify-it”, “mdurl” and “punycode.js” in the bundle: answers have no links, so addresses
// in them are not looked for, and not written in the way of a request (markdown.js).
export class LinkifyIt {}
export default {};
