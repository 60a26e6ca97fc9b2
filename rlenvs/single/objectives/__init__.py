"""Finite worlds with several objectives. `fronts.json` has their exact fronts, with the policies that attain them."""
