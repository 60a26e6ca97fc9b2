// Prints what CityFlow computes from a roadnet file: a line "length X" per lane and lane link, and a line "crossing LINK
// DISTANCE OTHER" per crossing, link by link, in its order. Compiled with the objects of CityFlow but for cityflow.cpp:
//     g++ -O2 -std=c++17 -pthread -DRAPIDJSON_HAS_STDSTRING=1 -Isrc -Iextern/milo -Iextern/rapidjson/include
//         cityflow_geometry.cpp src/*/*.cpp -o geometry
#include "roadnet/roadnet.h"

#include <cstdio>
#include <map>

int main(int count, char **names) {
    CityFlow::RoadNet net;
    if (count != 2 || !net.loadFromJson(names[1])) return 1;
    std::map<const CityFlow::LaneLink *, int> number;
    for (auto link : net.getLaneLinks()) number.emplace(link, number.size());
    for (auto drivable : net.getDrivables()) std::printf("length %a\n", drivable->getLength());
    for (auto link : net.getLaneLinks())
        for (auto cross : link->getCrosses()) {
            auto other = cross->getLaneLink(cross->getLaneLink(0) == link ? 1 : 0);
            std::printf("crossing %d %a %d\n", number[link], cross->getDistanceByLane(link), number[other]);
        }
}
